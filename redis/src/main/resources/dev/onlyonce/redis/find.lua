-- For each id: member, how many bytes of the entry (0 for all). Answers what is stored, empty for nothing.
local answers = { now() }
for i = 2, #ARGV, 2 do
  answers[#answers + 1] = redis.call('GETRANGE', ENTRY .. ARGV[i], 0, ARGV[i + 1] - 1)
end
return answers
