-- For each entry: token, state, whether there is a result, result, reason.
return answer(5, function(key, base, member, at)
  local token, to = ARGV[at], tonumber(ARGV[at + 1])
  local raw = live(key)
  local from = raw and byte(raw, 2)
  if not raw or not has_token(raw, token) or (from ~= PROCESSING and from ~= to) then
    return lost(raw)
  end
  if from ~= PROCESSING then
    return { 1, number(raw, SETTLED), number(raw, EXPIRES) }
  end
  local result = ARGV[at + 2] == '1' and ARGV[at + 3] or nil
  return settle(key, base, member, raw, to, token, result, sub(raw, OPERATION, names_end(raw)), ARGV[at + 4])
end)
