#!/usr/bin/env node
// Runs Bun from this package with the given arguments: `node bin/bun.mjs test`.
import { runBun } from './runtime.mjs';

/**
 * Patience of every test, in milliseconds: a busy machine makes tests late, not wrong. Only tests that take longer, or that
 * measure time, have a limit of their own. An argument that follows wins.
 */
const PATIENCE = '--timeout=120000';

const [command, ...args] = process.argv.slice(2);
runBun(command === 'test' ? [command, PATIENCE, ...args] : process.argv.slice(2));
