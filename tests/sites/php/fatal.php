<?php
// The same without a word about the status: with display_errors on, PHP sends its fatal errors with 200.
function connect(string $dsn): void { throw new RuntimeException("could not connect to $dsn"); }
connect("mysql://shop:planted-pw@db.internal/shop");
