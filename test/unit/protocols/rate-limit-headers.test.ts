// Limits that upstreams announce: headers as they were recorded or documented, and what is read from them.
import { describe, expect, test } from 'bun:test';
import type { LimitNotice, ProtocolName } from '../../../src/canonical/index.ts';
import { findProtocol } from '../../../src/protocols/index.ts';

const NOW = Date.parse('2026-11-05T12:00:00Z');

type Headers = Readonly<Record<string, string>>;
type Case = readonly [title: string, headers: Headers, expected: LimitNotice | null];

function decode(name: ProtocolName, headers: Headers): LimitNotice | null {
  const codec = findProtocol(name)?.upstream;
  if (!codec?.decodeLimits) throw new Error(`${name} reads no limits`);
  return codec.decodeLimits((header) => headers[header] ?? null, NOW);
}

const openai = (requests: string, tokens: string, sizes: Headers = {}): Headers => {
  const [remainingRequests = '', resetRequests = ''] = requests.split(' ');
  const [remainingTokens = '', resetTokens = ''] = tokens.split(' ');
  return {
    'x-ratelimit-remaining-requests': remainingRequests,
    'x-ratelimit-reset-requests': resetRequests,
    'x-ratelimit-remaining-tokens': remainingTokens,
    'x-ratelimit-reset-tokens': resetTokens,
    ...sizes,
  };
};

const requestsOf = (size: string): Headers => ({ 'x-ratelimit-limit-requests': size });
const single = (remaining: string, reset: string): Headers => ({
  'x-ratelimit-remaining': remaining,
  'x-ratelimit-reset': reset,
});

const X_RATE_LIMIT: readonly Case[] = [
  ['nothing', {}, null],
  [
    'OpenAI, recorded',
    openai('9999 6ms', '199959 12ms', requestsOf('10000')),
    { remaining: 9999, resetMs: 6 },
  ],
  // 98 of 100 a day are left: one more in half of the time that both take.
  [
    'OpenAI, recorded, by the day',
    openai('98 14m24s', '149977 9ms', requestsOf('100')),
    { remaining: 98, resetMs: 432_000 },
  ],
  [
    'Groq, recorded',
    openai('14397 17.379s', '5987 130ms', requestsOf('14400')),
    { remaining: 5987, resetMs: 130 },
  ],
  ['Azure, recorded', openai('119 500', '119986 7', requestsOf('120')), { remaining: 119, resetMs: 500 }],
  [
    'Azure, where it does not count',
    openai('249 0', '-1 0', requestsOf('250')),
    { remaining: 249, resetMs: 0 },
  ],
  [
    'xAI, recorded: no time',
    { 'x-ratelimit-remaining-requests': '1789', 'x-ratelimit-limit-requests': '1800' },
    null,
  ],
  ['Together, recorded', single('1', '2'), { remaining: 1, resetMs: 2000 }],
  ['OpenRouter, Unix milliseconds', single('0', String(NOW + 90_000)), { remaining: 0, resetMs: 90_000 }],
  ['Unix seconds', single('0', String(NOW / 1000 + 90)), { remaining: 0, resetMs: 90_000 }],
  ['a moment that has passed', single('0', String(NOW - 5000)), { remaining: 0, resetMs: 0 }],
  [
    'no requests left, of 500 a minute',
    openai('0 60s', '9000 1s', requestsOf('500')),
    { remaining: 0, resetMs: 120 },
  ],
  ['no requests left, without their limit', openai('0 60s', '9000 1s'), { remaining: 0, resetMs: 60_000 }],
  [
    'no tokens left: all of the time',
    openai('20 1s', '0 6m0s', requestsOf('60')),
    { remaining: 0, resetMs: 360_000 },
  ],
  ['neither left: the longer time', openai('0 1s', '0 350ms'), { remaining: 0, resetMs: 1000 }],
  ['a whole day', openai('0 24h0m0s', ''), { remaining: 0, resetMs: 86_400_000 }],
  ['days, microseconds', openai('0 1d2h', '0 1500µs'), { remaining: 0, resetMs: 93_600_000 }],
  ['a fraction of a millisecond', openai('0 250us', ''), { remaining: 0, resetMs: 1 }],
  ['more left than there are', openai('61 1s', '', requestsOf('60')), { remaining: 61, resetMs: 1000 }],
  ['one of two malformed', openai('none 1s', '5 2s'), { remaining: 5, resetMs: 2000 }],
  ...[
    '',
    's',
    '1x',
    '1s!',
    '-1s',
    '1.s',
    '1,5s',
    'NaN',
    'Infinity',
    '1e9s',
    '٣s',
    '1s 2s',
    '9'.repeat(40) + 's',
  ].map((reset): Case => [
    `malformed time ${reset}`,
    { ...single('0', reset), ...openai('0', '0'), 'x-ratelimit-reset-tokens': reset },
    null,
  ]),
  ...['', 'x', '-1', '1e3', 'Infinity', '0x0', ' '].map((remaining): Case => [
    `malformed count ${remaining}`,
    {
      ...single(remaining, '1'),
      'x-ratelimit-remaining-tokens': remaining,
      'x-ratelimit-reset-tokens': '1s',
    },
    null,
  ]),
];

describe.each(['openai-chat', 'openai-responses'] as const)('%s', (name) => {
  test.each(X_RATE_LIMIT)('%s', (_, headers, expected) => {
    expect(decode(name, headers)).toEqual(expected);
  });
});

const anthropic = (of: string, remaining: string, reset: string): Headers => ({
  [`anthropic-ratelimit-${of}-remaining`]: remaining,
  [`anthropic-ratelimit-${of}-reset`]: reset,
});

const ANTHROPIC: readonly Case[] = [
  ['nothing', {}, null],
  ['the headers of another', single('0', '60'), null],
  [
    'all four, as they are sent',
    {
      ...anthropic('requests', '49', '2026-11-05T12:00:01Z'),
      'anthropic-ratelimit-requests-limit': '50',
      ...anthropic('input-tokens', '40000', '2026-11-05T12:00:00Z'),
      ...anthropic('output-tokens', '8000', '2026-11-05T12:00:00Z'),
      ...anthropic('tokens', '48000', '2026-11-05T12:00:00Z'),
    },
    { remaining: 49, resetMs: 1000 },
  ],
  [
    'no requests left, of 50 a minute',
    { ...anthropic('requests', '0', '2026-11-05T12:01:00Z'), 'anthropic-ratelimit-requests-limit': '50' },
    { remaining: 0, resetMs: 1200 },
  ],
  ...['tokens', 'input-tokens', 'output-tokens'].map((of): Case => [
    `no ${of} left`,
    {
      ...anthropic('requests', '49', '2026-11-05T12:00:01Z'),
      ...anthropic(of, '0', '2026-11-05T12:00:30.500Z'),
      [`anthropic-ratelimit-${of}-limit`]: '40000',
    },
    { remaining: 0, resetMs: 30_500 },
  ]),
  [
    'with an offset',
    anthropic('tokens', '0', '2026-11-05T14:00:10+02:00'),
    { remaining: 0, resetMs: 10_000 },
  ],
  [
    'a moment that has passed',
    anthropic('tokens', '0', '2026-11-05T11:59:00Z'),
    { remaining: 0, resetMs: 0 },
  ],
  ...[
    '',
    '60',
    '2026',
    '2026-11-05',
    '2026-13-45T12:00:00Z',
    '2026-11-05T12:00:00',
    'soon',
    'Thu, 05 Nov 2026 12:01:00 GMT',
  ].map((reset): Case => [`malformed time ${reset}`, anthropic('tokens', '0', reset), null]),
  ['malformed count', anthropic('tokens', 'none', '2026-11-05T12:01:00Z'), null],
];

describe('anthropic-messages', () => {
  test.each(ANTHROPIC)('%s', (_, headers, expected) => {
    expect(decode('anthropic-messages', headers)).toEqual(expected);
  });
});
