// A roster is a set whose former members are given up by the next quick collection.
import { expect, test } from 'bun:test';
import { edenGC, fullGC, heapStats } from 'bun:jsc';
import { Roster } from '../../../src/base/lib/roster.ts';

interface Guest {
  readonly name: string;
}

const names = (roster: Roster<Guest>): string[] => [...roster].map(({ name }) => name).toSorted();

test('holds the members that were added and not removed', () => {
  const roster = new Roster<Guest>();
  const [ann, bob, cid] = [{ name: 'ann' }, { name: 'bob' }, { name: 'cid' }];
  const at = [ann, bob, cid].map((guest) => roster.add(guest));
  roster.remove(bob, at[1]!);
  expect([roster.size, names(roster)]).toEqual([2, ['ann', 'cid']]);
  roster.add(bob);
  expect([roster.size, names(roster)]).toEqual([3, ['ann', 'bob', 'cid']]);
});

test('a slot that is in use again is not cleared by its earlier member', () => {
  const roster = new Roster<Guest>();
  const [ann, bob, cid] = [{ name: 'ann' }, { name: 'bob' }, { name: 'cid' }];
  roster.add(cid);
  const place = roster.add(ann);
  roster.remove(ann, place);
  expect(roster.add(bob)).toBe(place);
  roster.remove(ann, place);
  expect([roster.size, names(roster)]).toEqual([2, ['bob', 'cid']]);
});

test('members can be added and removed during iteration', () => {
  const roster = new Roster<Guest>();
  const guests = Array.from({ length: 6 }, (_, at) => ({ name: String(at) }));
  const at = guests.map((guest) => roster.add(guest));
  const seen: string[] = [];
  for (const { name } of roster) {
    seen.push(name);
    if (name === '1') roster.remove(guests[2]!, at[2]!);
    if (name === '3') roster.add({ name: 'late' });
    if (name === '4') for (const [place, guest] of guests.entries()) roster.remove(guest, at[place]!);
  }
  expect(seen).toEqual(['0', '1', '3', '4']);
  expect(names(roster)).toEqual(['late']);
});

test('a removed member does not survive a young collection', () => {
  const roster = new Roster<Float32Array>();
  const counted = (): number => heapStats().objectTypeCounts['Float32Array'] ?? 0;
  const here: [Float32Array, number][] = [];
  fullGC();
  const before = counted();
  for (let round = 0; round < 4; round += 1) {
    for (let each = 0; each < 500; each += 1) {
      const guest = new Float32Array(1);
      here.push([guest, roster.add(guest)]);
      const first = here.length > 20 ? here.shift() : undefined;
      if (first) roster.remove(...first);
    }
    edenGC();
  }
  expect(roster.size).toBe(20);
  // Members that were there at a collection stay until a full one.
  expect(counted() - before).toBeLessThan(200);
});
