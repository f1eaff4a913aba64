-- For each entry: token, state, whether there is a result, result, reason.
return answer(5, function(key, base, member, at)
  local token, to, has, result, why = unpack(ARGV, at, at + 4)
  local e = live(key)
  to = tonumber(to)
  if not e or e.token ~= token or (e.state ~= PROCESSING and e.state ~= to) then
    return lost(e)
  end
  if e.state == PROCESSING then
    settle(key, base, member, e, to, has == '1' and result or nil, e.owner, why)
  end
  return settled(e)
end)
