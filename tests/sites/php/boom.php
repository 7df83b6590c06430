<?php
// Fails before a word was sent, as a front controller that sets the status of its failures itself.
function connect(string $dsn): void { throw new RuntimeException("could not connect to $dsn"); }
http_response_code(500);
connect("mysql://shop:planted-pw@db.internal/shop");
