#!/usr/bin/env node
// The `dragoman` command: starts the program on the Bun that came with it.
import { join } from 'node:path';
import { findProgram } from './find-program.mjs';
import { packageRoot, runBun } from './runtime.mjs';

const args = process.argv.slice(2);
const watch = args[0] === '--watch';
// Bun would read `bunfig.toml`, whose preloads are code, and `.env` from wherever it is started.
runBun([
  `--config=${join(packageRoot, 'bin', 'bunfig.toml')}`,
  '--no-env-file',
  ...(watch ? ['--watch'] : []),
  watch ? join(packageRoot, 'src', 'main.ts') : findProgram(packageRoot),
  ...(watch ? args.slice(1) : args),
]);
