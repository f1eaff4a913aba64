-- For each entry: how many bytes of it (0 for all). Answers what is stored, empty for nothing.
local answers, room = { time }, ANSWER_BYTES
for i = 1, #ARGV - FIXED do
  local found = try('GETRANGE', KEYS[i], 0, ARGV[FIXED + i] - 1)
  answers[i + 1] = type(found) == 'table' and failed(found) or found
  room = room - #found
  if room < 0 then
    break
  end
end
return answers
