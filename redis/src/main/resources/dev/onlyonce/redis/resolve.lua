-- For each entry: created (empty for any), attempt, state, whether there is a result, result, who, reason.
return answer(7, function(key, base, member, at)
  local created, attempt, to, has, result, who, why = unpack(ARGV, at, at + 6)
  local e = live(key)
  if not e or e.state ~= UNKNOWN or e.attempt ~= tonumber(attempt) or (created ~= '' and e.created ~= tonumber(created)) then
    return lost(e)
  end
  e.token = nil
  settle(key, base, member, e, tonumber(to), has == '1' and result or nil, who, why)
  return settled(e)
end)
