-- For each entry: token; state, whether there is a result, and reason with its length; result. Answers when it expires, 0 for never; when
-- it was settled and expires if it had been before.
return answer(3, function(i, key, raw, at)
  local token, how = ARGV[at], ARGV[at + 1]
  local to, has_result = byte(how, 1, 2)
  local from = raw and byte(raw, 2)
  if not raw or not has_token(raw, token) or (from ~= PROCESSING and (from ~= to or gone(raw))) then
    return lost(raw and not gone(raw) and raw)
  end
  if from ~= PROCESSING then
    return { 1, number(raw, SETTLED), number(raw, EXPIRES) }
  end
  return settle(i, key, raw, to, token, has_result == 1 and ARGV[at + 2], sub(raw, OPERATION, names_end(raw)), sub(how, 3))
end)
