// Messages that somebody else publishes where processes of one installation talk to each other.
import { expect, test } from 'bun:test';
import {
  Listeners,
  RoutingExchange,
  SignedPubSub,
  type PubSub,
  type Topic,
} from '../../src/cluster/exchange/index.ts';
import { MemoryRoutingState } from '../../src/engine/routing/index.ts';
import { ManualClock } from '../support/manual-clock.ts';

const clock = new ManualClock();
const secret = Buffer.alloc(32, 7);
const ID = { modelId: 'vendor/m', slug: 'vendor' };

/** A server on which everybody hears everybody else, and what was said there. */
class Server {
  readonly said: (readonly [Topic, string])[] = [];
  readonly #all: Listeners[] = [];

  join(): PubSub {
    const own = new Listeners();
    this.#all.push(own);
    const publishCounted: PubSub['publishCounted'] = async (topic, text) => {
      this.said.push([topic, text]);
      for (const each of this.#all) if (each !== own) each.take(topic, text);
      return this.#all.length - 1;
    };
    return {
      publish: (topic, text) => void publishCounted(topic, text),
      publishCounted,
      subscribe: (topic, received) => own.set(topic, received),
    };
  }
}

function member(server: Server, self: string, with_: Uint8Array = secret): SignedPubSub {
  return new SignedPubSub(server.join(), { self, secrets: [with_], now: clock.now });
}

test('messages are accepted only with the signature of the installation, for their topic, and once', () => {
  const server = new Server();
  const received: string[] = [];
  member(server, 'two').subscribe('tenants', (text) => received.push(text));
  const one = member(server, 'one');
  one.publish('tenants', 'true');
  expect(received).toEqual(['true']);
  const attacker = server.join();
  const [, signed = ''] = server.said[0] ?? [];
  attacker.publish('tenants', signed);
  attacker.publish('tenants', 'forged');
  attacker.publish('tenants', JSON.stringify([JSON.stringify(['one', 1e15, 'tenants', 'forged']), 'x']));
  attacker.publish('tenants', signed.replace('true', 'lies'));
  member(server, 'three', Buffer.alloc(32, 8)).publish('tenants', 'of another installation');
  one.publish('routing', 'of another topic');
  attacker.publish('tenants', server.said.at(-1)?.[1] ?? '');
  expect(received).toEqual(['true']);
  one.publish('tenants', 'again');
  expect(received).toEqual(['true', 'again']);
});

test('messages change nothing for longer than an operator may, and invalid ones change nothing', () => {
  const server = new Server();
  const breaker = { failures: 5, windowMs: 30_000, openMs: 15_000 };
  const routing = new MemoryRoutingState({ now: clock.now, breaker: () => breaker, isShared: true });
  const exchange = new RoutingExchange({ pubSub: server.join(), routing, clock, processes: () => 2 });
  const other = server.join();
  const none = { ...ID, measures: {}, attempts: 0, faults: 0, failures: {} };
  const send = (update: object): void =>
    other.publish('routing', JSON.stringify([1, { endpoints: [{ ...none, ...update }], holds: [] }]));
  send({ disabled: { forMs: 1e12, reason: 'for ever' } });
  send({ disabled: { forMs: 1e300, reason: 'for ever' } });
  send({ disabled: { forMs: 1000, reason: 'x'.repeat(5000) } });
  send({ failures: { 'made-up': 1 } });
  send({ attempts: 1e300, faults: 1e300 });
  expect(routing.health(ID).availability(clock.now()).state).toBe('closed');
  send({ disabled: { forMs: 1000, reason: 'maintenance' } });
  expect(routing.health(ID).availability(clock.now()).state).toBe('open');
  exchange.stop();
});
