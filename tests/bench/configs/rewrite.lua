-- What people write to give machines an error they can read: an action that sees every response, and for callers who
-- accept problem details makes one of an error page's title. Far less than saywhy does; it is here for what Lua costs.
core.register_action("rewrite", { "http-res" }, function(txn)
  local status = txn.f:status()
  if status < 400 or not txn:get_var("txn.agent") then
    return
  end
  local page = txn.sf:res_body() or ""
  local title = string.match(page, "<title>%s*(.-)%s*</title>") or "Error"
  title = string.gsub(string.gsub(title, "\\", "\\\\"), '"', '\\"')
  local reply = txn:reply()
  reply:set_status(status)
  reply:add_header("content-type", "application/problem+json")
  reply:set_body(string.format('{"type":"about:blank","status":%d,"title":"%s"}', status, title))
  txn:done(reply)
end)
