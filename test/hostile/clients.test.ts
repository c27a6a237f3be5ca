// Hostile clients on bare sockets against a gateway in its own process: what each of them gets, how long somebody else
// waits meanwhile, and how much memory is held afterwards. The attacks are tables, one file for each attacker; those that
// last are tests of their own, so that two cores share them.
import { describe } from 'bun:test';
import { BODIES } from './client-bodies.ts';
import { CLIENT } from './client.ts';
import { play } from './scene.ts';

describe('a hostile client', () => play(CLIENT));
describe('a hostile client and its bodies', () => play(BODIES));
