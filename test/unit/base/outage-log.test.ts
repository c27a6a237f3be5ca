// The log while a database is away: one line when that begins, one a minute, one at the end.
import { expect, test } from 'bun:test';
import { GatewayError } from '../../../src/canonical/index.ts';
import { createLogger } from '../../../src/base/telemetry/log.ts';
import { withOutages } from '../../../src/base/telemetry/outage-log.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const away = (): GatewayError =>
  new GatewayError('upstream_unavailable', 'the database is unreachable', { code: 'database_unavailable' });

test('an unreachable database is logged at the beginning, once a minute and at the end', () => {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = withOutages(
    createLogger({ level: 'info', now: clock.wall, write: (line) => lines.push(line) }),
    clock,
  );
  const messages = (): string[] =>
    lines.map((line) => String((JSON.parse(line) as { message: string }).message));
  for (let second = 0; second < 150; second += 1) {
    log.error('API keys could not be reloaded', { error: away() });
    for (let request = 0; request < 20; request += 1)
      log.with({ id: request }).error('a response could not be stored', { error: away() });
    clock.advance(1000);
  }
  expect(messages()).toEqual([
    'API keys could not be reloaded',
    'the database is still unreachable',
    'the database is still unreachable',
  ]);
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({
    level: 'warn',
    away_ms: 60_000,
    failures: { 'a response could not be stored': 1200, 'API keys could not be reloaded': 59 },
  });
  // An error with another cause is not held back.
  log.error('a response could not be stored', { error: new Error('something else') });
  expect(messages()).toHaveLength(4);
  clock.advance(10_000);
  expect(messages().at(-1)).toBe('the database is reachable again');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 'info', away_ms: 149_000 });
  clock.advance(120_000);
  expect(messages()).toHaveLength(5);
  // The next time begins anew.
  log.warn('expired data could not be deleted', { error: away() });
  expect(messages().at(-1)).toBe('expired data could not be deleted');
});
