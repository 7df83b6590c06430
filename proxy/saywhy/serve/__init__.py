"""The process: `app` opens the sockets and ends in order, `admin` is its own small site, `reload` replaces the set in
force. What is decided about an exchange, and how bytes move, is not here.
"""
