-- KEYS[1] is an audit stream. The id to begin with, how many messages to look at, a member. Answers the id of the last message if there
-- may be more, else nothing, and the messages that may tell of the member.
local messages, found = redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2]), {}
for _, message in ipairs(messages) do
  if string.find(message[2][2], ARGV[3], 1, true) then
    found[#found + 1] = message
  end
end
return { #messages == tonumber(ARGV[2]) and messages[#messages][1] or '', found }
