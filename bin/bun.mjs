#!/usr/bin/env node
// Runs Bun from this package with the given arguments: `node bin/bun.mjs test`.
import { become, bunCommand } from './runtime.mjs';

/**
 * Timeout of every test in milliseconds. It is long because a busy machine makes tests slow, not wrong. Tests that take longer
 * or measure time have their own. A later argument overrides it.
 */
const TIMEOUT = '--timeout=120000';

const [command, ...args] = process.argv.slice(2);
become(bunCommand(command === 'test' ? [command, TIMEOUT, ...args] : process.argv.slice(2)));
