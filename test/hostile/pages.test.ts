// The same for pages and search engines that mean harm.
import { describe } from 'bun:test';
import { PAGE } from './page.ts';
import { play } from './scene.ts';

describe('a hostile page', () => play(PAGE));
