#!/usr/bin/env node
// Runs Bun from this package with the given arguments: `node bin/bun.mjs test`.
import { runBun } from './runtime.mjs';

runBun(process.argv.slice(2));
