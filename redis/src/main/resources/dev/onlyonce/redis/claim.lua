-- For each entry: a new entry up to its token; and from its terms on. Answers the attempt if it is the caller's, else the entry.
local TAIL_OPERATION = OPERATION - TERMS + 1
local leases = {}
local function lease_of(ms)
  local found = leases[ms]
  if not found then
    local at = time + ms * 1000
    found = { score = score(at), until_bytes = pack('>ddd', at, 0, 0) }
    leases[ms] = found
  end
  return found
end

local function same_request(raw, tail)
  return sub(raw, PRINT, text_end(raw, OPERATION)) == sub(tail, PRINT - TERMS + 1, text_end(tail, TAIL_OPERATION))
end

return answer(2, function(i, key, raw, at)
  local head, tail = ARGV[at], ARGV[at + 1]
  local partition, member = place(key)
  local lease = lease_of(number(tail, LEASE_MS - TERMS + 1))
  if not raw then
    add(partition, 'ids', '0', member)
    add(partition, 'leases', lease.score, member)
    create(i, partition, key, head .. time_bytes .. lease.until_bytes .. tail)
    return byte(head, 7)
  end
  local from, start = byte(raw, 2), byte(head, 2)
  if gone(raw) then
    local owner = text_end(tail, TAIL_OPERATION) + 1
    add(partition, 'ids', '0', member)
    add(partition, 'leases', lease.score, member)
    remove(partition, 'expiries', member)
    if ARGV[2] == '1' then
      record_own(partition, member, raw)
    end
    record(partition, member, raw, from, 0, sub(raw, 4, 7), time_bytes,
      names(raw, sub(tail, owner + 2, text_end(tail, owner))), text('its retention is over'))
    write(i, partition, 'SET', key, head .. time_bytes .. lease.until_bytes .. tail)
    return byte(head, 7)
  end
  if from == start and has_token(raw, sub(head, 8, 23)) then
    local until_time = time + number(raw, LEASE_MS) * 1000
    add(partition, 'leases', score(until_time), member)
    write(i, partition, 'SET', key, leased(raw, until_time))
    return attempt(raw)
  end
  if start ~= PROCESSING or (from ~= PENDING and from ~= RETRYABLE) or not same_request(raw, tail) then
    return raw
  end
  local tries = attempt(raw) + 1
  local attempt_bytes, named = pack('>I4', tries), text_end(tail, text_end(tail, TAIL_OPERATION) + 1)
  add(partition, 'leases', lease.score, member)
  if from == RETRYABLE then
    remove(partition, 'expiries', member)
  end
  record(partition, member, raw, from, start, attempt_bytes, time_bytes, sub(tail, TAIL_OPERATION, named), text('claimed'))
  -- The first claim's target stays.
  local target = names_end(raw) + 1
  write(i, partition, 'SET', key, char(FORMAT, start, TOKEN) .. attempt_bytes .. sub(head, 8, 23) .. sub(raw, CREATED, LEASE - 1)
    .. lease.until_bytes .. sub(tail, 1, named) .. sub(raw, target, text_end(raw, target)))
  return tries
end)
