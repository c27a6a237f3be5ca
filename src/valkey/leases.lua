-- Leases of shared counters: what src/limits/shared-counter.ts does in memory, here for all processes of a gateway.
-- One call has many claims. Time is the server's own. Amounts are whole numbers up to 2^53, passed as texts.
-- KEYS[1] begins the names of all keys. ARGV: operation, holder, turn, milliseconds of a lease, then what is claimed.
local prefix = KEYS[1]
local operation, holder, turn, leaseMs = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local CONTENDED_MS = 3000
local REVIEW_LEASES = 10
local LONGEST_MS = 40 * 86400000
local NEVER = math.huge

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function text(number)
  if number == NEVER then return '' end
  return string.format('%.17g', number)
end

local function numberOr(value, other)
  if not value or value == '' then return other end
  return tonumber(value)
end

-- Fences grow, also over a loss of all data: they are not below the microseconds of the clock.
local lastFence = numberOr(redis.call('GET', prefix .. 'fence'), 0)
local function nextFence()
  lastFence = math.max(lastFence + 1, now * 1000)
  redis.call('SET', prefix .. 'fence', text(lastFence))
  return lastFence
end

-- A server that is new, has started again or has taken over may have lost leases that processes still have: nothing new is
-- leased until these are over.
local function settlesIn(knownFence)
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  local since = redis.call('HMGET', prefix .. 'since', 'run', 'ms')
  local at = numberOr(since[2], nil)
  if since[1] ~= run or not at or knownFence > lastFence then
    at = now
    redis.call('HSET', prefix .. 'since', 'run', run, 'ms', text(at))
  end
  return math.max(0, at + leaseMs - now)
end

local function hear()
  redis.call('ZADD', prefix .. 'heard', now, holder)
  redis.call('ZREMRANGEBYSCORE', prefix .. 'heard', '-inf', '(' .. text(now - leaseMs))
  return redis.call('ZCARD', prefix .. 'heard')
end

-- One counter in one period --------------------------------------------------------------------------------------------

local FIELDS = {
  'known', 'lingers', 'review', 'reviewAt', 'changedAt', 'refusedAt', 'restoredFence', 'ceilings', 'settled', 'remains',
  'holders', 'vanished', 'firstRemains', 'lastRemains', 'xFence', 'xExpires', 'xSettled', 'xAt', 'xLast',
}

local function open(name, period)
  local key = prefix .. 'c:' .. name .. ':' .. period
  local values = redis.call('HMGET', key, unpack(FIELDS))
  if not values[1] then return nil end
  local counter = { key = key, index = key .. ':e' }
  for at, field in ipairs(FIELDS) do
    counter[field] = numberOr(values[at], (field == 'lingers' or field == 'review' or field == 'reviewAt') and NEVER or 0)
  end
  return counter
end

local function save(counter)
  local values = {}
  for _, field in ipairs(FIELDS) do
    values[#values + 1] = field
    values[#values + 1] = text(counter[field])
  end
  redis.call('HSET', counter.key, unpack(values))
  local keepsMs = counter.lingers == NEVER and LONGEST_MS or counter.lingers + leaseMs + 60000
  redis.call('PEXPIRE', counter.key, keepsMs)
  redis.call('PEXPIRE', counter.index, keepsMs)
end

-- Made where it is the first; nil where its period is long over.
local function openOrMake(name, period, lingers, review)
  local known = open(name, period)
  if known then return known end
  local list = prefix .. 'p:' .. name
  local periods = redis.call('ZRANGE', list, 0, -1)
  local oldest = numberOr(periods[1], nil)
  if oldest and #periods >= 2 and period + 0 < oldest then return nil end
  local isKnown = lingers ~= NEVER or (oldest ~= nil and oldest < period + 0)
  redis.call('ZADD', list, period, period)
  redis.call('PEXPIRE', list, LONGEST_MS)
  if #periods >= 2 then
    redis.call('ZREM', list, periods[1])
    local over = prefix .. 'c:' .. name .. ':' .. periods[1]
    redis.call('DEL', over, over .. ':e')
  end
  local key = prefix .. 'c:' .. name .. ':' .. period
  local counter = { key = key, index = key .. ':e' }
  for _, field in ipairs(FIELDS) do counter[field] = 0 end
  counter.known, counter.lingers, counter.review = isKnown and 1 or 0, lingers, review
  counter.reviewAt = NEVER
  return counter
end

local function keep(counter, amount, since, who, whoseTurn)
  local untilMs = counter.lingers == NEVER and NEVER or since + counter.lingers
  if amount <= 0 or untilMs <= now then return end
  counter.lastRemains = counter.lastRemains + 1
  counter.remains = counter.remains + amount
  local id = 'r:' .. text(counter.lastRemains)
  redis.call('HSET', counter.key, id, text(amount) .. ' ' .. (who or ''))
  if untilMs ~= NEVER then redis.call('ZADD', counter.index, untilMs, id) end
  if who then
    counter.vanished = counter.vanished + 1
    redis.call('HSET', counter.key, 'v:' .. who, id .. ' ' .. text(whoseTurn))
  end
end

-- Returns whether there was any.
local function dropRemains(counter, id)
  local value = redis.call('HGET', counter.key, id)
  if not value then return false end
  local amount, who = string.match(value, '^(%S+) (.*)$')
  counter.remains = counter.remains - tonumber(amount)
  redis.call('HDEL', counter.key, id)
  redis.call('ZREM', counter.index, id)
  if who ~= '' then
    counter.vanished = counter.vanished - 1
    redis.call('HDEL', counter.key, 'v:' .. who)
  end
  return true
end

local function holding(counter, who)
  local value = redis.call('HGET', counter.key, 'h:' .. who)
  if not value then return nil end
  local settled, ceiling, expires, itsTurn = string.match(value, '^(%S+) (%S+) (%S+) (%S+)$')
  return { settled = tonumber(settled), ceiling = tonumber(ceiling), expires = tonumber(expires), turn = tonumber(itsTurn) }
end

local function dropHolding(counter, who)
  local held = holding(counter, who)
  if not held then return nil end
  counter.ceilings = counter.ceilings - held.ceiling
  counter.settled = counter.settled - held.settled
  counter.holders = counter.holders - 1
  redis.call('HDEL', counter.key, 'h:' .. who)
  redis.call('ZREM', counter.index, 'h:' .. who)
  return held
end

-- A holder that did not renew its lease may have used all of it.
local function expire(counter)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', counter.index, '-inf', text(now))) do
    if string.sub(member, 1, 2) == 'h:' then
      local who = string.sub(member, 3)
      local held = dropHolding(counter, who)
      if held then keep(counter, held.ceiling, held.expires, who, held.turn) end
    else
      dropRemains(counter, member)
    end
  end
end

-- The remains of a holder that has vanished, and the turn in which it was heard last.
local function vanishedOf(counter, who)
  local value = redis.call('HGET', counter.key, 'v:' .. who)
  if not value then return nil, 0 end
  local id, itsTurn = string.match(value, '^(%S+) (%S+)$')
  return id, tonumber(itsTurn)
end

local function lastTurnOf(counter)
  local held = holding(counter, holder)
  if held then return held.turn end
  local _, itsTurn = vanishedOf(counter, holder)
  return itsTurn
end

local function needsLedger(counter)
  if counter.known == 0 then return true end
  if counter.lingers ~= NEVER then return false end
  return counter.reviewAt <= now or counter.vanished > 0
end

local function share(need, want, free)
  if free < need then return 0 end
  return math.max(need, math.min(want, math.floor(free / 2)))
end

-- Returns its ceiling, what others have, the fair share, whether the ledger is needed, whether it was taken over.
local function claim(counter, one, isSettled)
  expire(counter)
  local wasTakenOver = false
  if turn > lastTurnOf(counter) then
    local before = dropHolding(counter, holder)
    local id = vanishedOf(counter, holder)
    local isCounted = not before and one.fence > 0 and not id and counter.restoredFence > one.fence
    -- Whoever is back speaks for itself again.
    if not before and one.fence > 0 and id then dropRemains(counter, id) end
    -- Of a window that rolls, the ledger has to say again what is left of that.
    if isCounted and one.review ~= NEVER then counter.reviewAt = now end
    wasTakenOver = isCounted and one.review == NEVER
    local settled = wasTakenOver and 0 or one.settled
    if not before or before.settled ~= settled then counter.changedAt = now end
    local used = one.used - one.settled + settled
    local mayLease = counter.known == 1 and isSettled
    local free = mayLease and one.limit - counter.ceilings - counter.remains - used or 0
    if mayLease and one.need > free then counter.refusedAt = now end
    local ceiling = used + share(one.need, one.want, free)
    counter.ceilings = counter.ceilings + ceiling
    counter.settled = counter.settled + settled
    counter.holders = counter.holders + 1
    local fields = { text(settled), text(ceiling), text(now + leaseMs), text(turn) }
    redis.call('HSET', counter.key, 'h:' .. holder, table.concat(fields, ' '))
    redis.call('ZADD', counter.index, now + leaseMs, 'h:' .. holder)
  end
  local held = holding(counter, holder)
  local own = held and held.ceiling or 0
  local fair = one.limit
  if counter.refusedAt + CONTENDED_MS > now then fair = math.floor(one.limit / math.max(1, counter.holders)) end
  save(counter)
  return { held and held.ceiling or one.used, counter.ceilings + counter.remains - own, fair,
    needsLedger(counter) and 1 or 0, wasTakenOver and 1 or 0 }
end

-- The operations -------------------------------------------------------------------------------------------------------

local CLAIM = 10
local function claimsIn(from)
  local claims = {}
  for at = from, #ARGV, CLAIM do
    claims[#claims + 1] = {
      name = ARGV[at], period = ARGV[at + 1], limit = tonumber(ARGV[at + 2]), used = tonumber(ARGV[at + 3]),
      settled = tonumber(ARGV[at + 4]), need = tonumber(ARGV[at + 5]), want = tonumber(ARGV[at + 6]),
      lingers = numberOr(ARGV[at + 7], NEVER), review = numberOr(ARGV[at + 8], NEVER), fence = tonumber(ARGV[at + 9]),
    }
  end
  return claims
end

local operations = {}

function operations.claim()
  local claims = claimsIn(5)
  local knownFence = 0
  for _, one in ipairs(claims) do knownFence = math.max(knownFence, one.fence) end
  local settles = settlesIn(knownFence)
  local answer = { text(settles), text(hear()) }
  for _, one in ipairs(claims) do
    local fence = nextFence()
    local counter = openOrMake(one.name, one.period, one.lingers, one.review)
    -- Nothing more of a period that is long over.
    local granted = counter and claim(counter, one, settles == 0) or { one.used, 0, one.limit, 0, 0 }
    answer[#answer + 1] = text(fence)
    for _, value in ipairs(granted) do answer[#answer + 1] = text(value) end
  end
  return answer
end

function operations.leave()
  for _, one in ipairs(claimsIn(5)) do
    local counter = open(one.name, one.period)
    if counter then
      expire(counter)
      if turn > lastTurnOf(counter) and dropHolding(counter, holder) then
        counter.changedAt = now
        keep(counter, one.used, now, nil, nil)
      end
      if counter.lingers ~= NEVER and counter.holders == 0 and counter.remains == 0 then
        redis.call('DEL', counter.key, counter.index)
      else
        save(counter)
      end
    end
  end
  return 'OK'
end

function operations.restoring()
  local settles = settlesIn(0)
  local answer = {}
  for at = 5, #ARGV, 2 do
    local counter = open(ARGV[at], ARGV[at + 1])
    if not counter or counter.xExpires > now or settles > 0 then
      answer[#answer + 1] = ''
    else
      expire(counter)
      counter.xFence, counter.xExpires = nextFence(), now + leaseMs
      counter.xSettled, counter.xAt, counter.xLast = counter.settled, now, counter.lastRemains
      save(counter)
      answer[#answer + 1] = text(counter.xFence)
    end
  end
  return answer
end

function operations.restored()
  local answer = {}
  for at = 5, #ARGV, 4 do
    local counter, fence, spent = open(ARGV[at], ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
    if not counter or counter.xFence ~= fence or counter.xExpires <= now then
      answer[#answer + 1] = '0'
    else
      expire(counter)
      -- The ledger replaces what was there when it was asked.
      for id = counter.firstRemains, counter.xLast do dropRemains(counter, 'r:' .. text(id)) end
      counter.firstRemains = counter.xLast + 1
      keep(counter, math.max(0, spent - counter.xSettled), now, nil, nil)
      local isExact = counter.changedAt + leaseMs <= counter.xAt
      counter.reviewAt = now + (isExact and counter.review or math.min(counter.review, REVIEW_LEASES * leaseMs))
      counter.known, counter.restoredFence, counter.xFence, counter.xExpires = 1, fence, 0, 0
      save(counter)
      answer[#answer + 1] = '1'
    end
  end
  return answer
end

return operations[operation]()
