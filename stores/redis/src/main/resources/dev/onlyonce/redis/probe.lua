-- Tries every command that the scripts and the nodes use on entries: whoever lacks the right to one may claim and never settle.
--
-- KEYS[1..3]  a text, a sorted set and a stream that nobody uses
-- Returns the name of each command that was refused, and why.
local text, set, stream = KEYS[1], KEYS[2], KEYS[3]
local refused = {}
local function try(name, ...)
  local answer = redis.pcall(name, ...)
  if type(answer) == 'table' and answer.err then
    refused[#refused + 1] = name
    refused[#refused + 1] = answer.err
  end
  return answer
end

-- The first one needs no memory, so that a server without any takes the others.
try('DEL', text, set, stream)
try('TIME')
try('MSETNX', text, '')
try('SET', text, '1', 'PX', '60000')
try('SETNX', text, '1')
try('GET', text)
try('MGET', text)
try('GETRANGE', text, '0', '0')
try('EXISTS', text)
try('INCRBY', text, '1')
try('DECRBY', text, '1')
try('ZADD', set, '0', 'm')
try('ZSCORE', set, 'm')
try('ZRANGEBYSCORE', set, '-inf', '+inf', 'LIMIT', '0', '1')
try('ZREVRANGEBYSCORE', set, '+inf', '-inf', 'LIMIT', '0', '1')
try('ZRANGEBYLEX', set, '-', '+', 'LIMIT', '0', '1')
try('ZLEXCOUNT', set, '-', '+')
try('ZREM', set, 'm')
try('ZREMRANGEBYRANK', set, '0', '-1')
local id = try('XADD', stream, '*', 'r', '')
try('XRANGE', stream, '-', '+', 'COUNT', '1')
if type(id) == 'string' then
  try('XSETID', stream, id)
  try('XDEL', stream, id)
else
  -- Only a stream that is there has an id to set.
  try('XDEL', stream, '1-1')
end
try('DEL', text, set, stream)
return refused
