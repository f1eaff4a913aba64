-- For each entry: created (empty for any), attempt, state, whether there is a result, result, who, reason.
return answer(7, function(key, base, member, at)
  local created, tries, to, has, result, who, why = unpack(ARGV, at, at + 6)
  local raw = live(key)
  if not raw or byte(raw, 2) ~= UNKNOWN or attempt(raw) ~= tonumber(tries)
    or (created ~= '' and number(raw, CREATED) ~= tonumber(created)) then
    return lost(raw)
  end
  return settle(key, base, member, raw, tonumber(to), nil, has == '1' and result or nil, names(raw, who), why)
end)
