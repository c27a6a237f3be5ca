// A plain key that asks for models nobody has: what that takes from others of what routing remembers.
import { afterEach, expect, test } from 'bun:test';
import { MemoryRoutingState, type EndpointId } from '../../src/engine/routing/index.ts';
import { DOWN } from '../support/routing-bench.ts';
import { startManaged, type ManagedGateway } from '../support/management/scene.ts';

const NOW = 1_700_000_000_000;
const BREAKER = { failures: 1, windowMs: 30_000, openMs: 15_000 };
const LISTED = 'vendor/known';

let gateway: ManagedGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

function stateOf(isShared = false): MemoryRoutingState {
  return new MemoryRoutingState({
    now: () => NOW,
    breaker: () => BREAKER,
    isListed: (id) => id === LISTED,
    isShared,
  });
}

function idOf(modelId: string): EndpointId {
  return { modelId, slug: 'vendor' };
}

function fail(state: MemoryRoutingState, modelId: string): void {
  state.begin(idOf(modelId), false).ended(DOWN);
}

const standing = (state: MemoryRoutingState, modelId: string): string =>
  state.health(idOf(modelId)).availability(NOW).state;

test('breakers of the catalog, and those set by hand, survive ten thousand made-up models', () => {
  const state = stateOf();
  fail(state, LISTED);
  state.disable(idOf('vendor/own-name'), NOW + 60_000, 'maintenance');
  expect(standing(state, LISTED)).toBe('open');
  for (let index = 0; index < 25_000; index++) fail(state, `vendor/${index}`);
  expect(standing(state, LISTED)).toBe('open');
  expect(standing(state, 'vendor/own-name')).toBe('open');
  expect(state.health(idOf('vendor/own-name')).availability(NOW).reason).toBe('maintenance');
  expect(state.remembered().length).toBeLessThan(350);
  state.enable(idOf('vendor/own-name'));
  for (let index = 0; index < 1000; index++) fail(state, `vendor/${index}`);
  expect(standing(state, 'vendor/own-name')).toBe('closed');
});

test('updates to other processes about made-up models are bounded, and those about other models are not lost', () => {
  const state = stateOf(true);
  fail(state, LISTED);
  for (let index = 0; index < 25_000; index++) fail(state, `vendor/${index}`);
  const reported = new Set<string>();
  for (let update = state.takeUpdate(); update !== null; update = state.takeUpdate())
    for (const { modelId } of update.endpoints) reported.add(modelId);
  expect(reported.has(LISTED)).toBe(true);
  expect(reported.size).toBeLessThan(2_100);
});

test('views stay small, and distinguish made-up models from those of the catalog', async () => {
  const managed = await startManaged({
    providers: { vendor: { api_key: 'none', protocols: { 'openai-chat': 'http://127.0.0.1:9/v1' } } },
    models: [{ id: 'vendor/known', endpoints: [{ provider: 'vendor' }] }],
    routing: { retries: 0 },
  });
  gateway = managed;
  const messages = [{ role: 'user', content: 'a' }];
  for (let lane = 0; lane < 20; lane++)
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        managed.post('/chat/completions', { model: `vendor/${lane}-${index}`, messages }),
      ),
    );
  const { body } = await managed.manage('GET', '/providers/vendor');
  const endpoints = body['endpoints'] as readonly { readonly model_id: string; readonly listed: boolean }[];
  expect(endpoints.filter(({ listed }) => listed).map((each) => each.model_id)).toEqual(['vendor/known']);
  expect(endpoints.length).toBeGreaterThan(100);
  expect(endpoints.length).toBeLessThanOrEqual(301);
});
