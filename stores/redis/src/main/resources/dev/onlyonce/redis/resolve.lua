-- For each entry: created (empty for any), attempt, state, whether there is a result, result, who, reason with its length. Answers as a
-- settlement.
return answer(7, function(i, key, raw, at)
  local created_at, tries, to, has_result, result, who, why = unpack(ARGV, at, at + 6)
  if not raw or byte(raw, 2) ~= UNKNOWN or attempt(raw) ~= tonumber(tries)
    or (created_at ~= '' and number(raw, CREATED) ~= tonumber(created_at)) then
    return lost(raw and not gone(raw) and raw)
  end
  return settle(i, key, raw, tonumber(to), nil, has_result == '1' and result, names(raw, who), why)
end)
