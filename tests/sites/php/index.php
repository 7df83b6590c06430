<?php
// A shop on PHP. What is planted here must never reach an agent.
echo "<title>Shop</title><h1>Welcome</h1>";
