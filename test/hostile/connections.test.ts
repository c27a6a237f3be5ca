// The same for connections of clients: how many, how slow, and how they end.
import { describe } from 'bun:test';
import { CONNECTIONS } from './client-connections.ts';
import { play } from './scene.ts';

describe('a hostile client and its connections', () => play(CONNECTIONS));
