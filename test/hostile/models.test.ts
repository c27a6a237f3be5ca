// The same for models that mean harm.
import { describe } from 'bun:test';
import { MODEL } from './model.ts';
import { play } from './scene.ts';

describe('a hostile model', () => play(MODEL));
