-- Tries commands. For each: how many words it has, and the words, of which the second may be the number of a key. Answers the names of
-- those that were refused, and why.
local refused, at = {}, 1
while at < #ARGV do
  local words = { unpack(ARGV, at + 1, at + ARGV[at]) }
  words[2] = KEYS[tonumber(words[2] or '')] or words[2]
  local answer = redis.pcall(unpack(words))
  if type(answer) == 'table' and answer.err then
    refused[#refused + 1], refused[#refused + 2] = words[1], answer.err
  end
  at = at + 1 + ARGV[at]
end
return refused
