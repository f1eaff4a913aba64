-- For each entry: token, state, whether there is a result, result, reason with its length. Answers when it expires, 0 for never; when
-- it was settled and expires if it had been before.
return answer(5, function(i, key, raw, at)
  local token, to = ARGV[at], byte(ARGV[at + 1])
  local from = raw and byte(raw, 2)
  if not raw or not has_token(raw, token) or (from ~= PROCESSING and (from ~= to or gone(raw))) then
    return lost(raw and not gone(raw) and raw)
  end
  if from ~= PROCESSING then
    return { 1, number(raw, SETTLED), number(raw, EXPIRES) }
  end
  return settle(i, key, raw, to, token, ARGV[at + 2] == '1' and ARGV[at + 3], sub(raw, OPERATION, names_end(raw)), ARGV[at + 4])
end)
