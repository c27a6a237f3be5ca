// The same for upstreams that mean harm.
import { describe } from 'bun:test';
import { play } from './scene.ts';
import { UPSTREAM } from './upstream.ts';

describe('a hostile upstream', () => play(UPSTREAM));
