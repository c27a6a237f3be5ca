#!/usr/bin/env node
// The `dragoman` command: starts the program, on the Bun that came with it or as an executable that has that in it.
import { join } from 'node:path';
import { findProgram } from './find-program.mjs';
import { ensureInstalled } from './installed.mjs';
import { packageRoot, run, runBun } from './runtime.mjs';

const args = process.argv.slice(2);
// Only a person who types `npm start` expects a download.
if (process.env.npm_lifecycle_event === 'start') ensureInstalled(packageRoot, false);
const watch = args[0] === '--watch';
const program = watch ? join(packageRoot, 'src', 'app', 'main.ts') : findProgram(packageRoot);
if (/\.[jt]s$/.test(program)) {
  // Bun would read `bunfig.toml`, whose preloads are code, and `.env` from wherever it is started. The executable does not.
  runBun([
    `--config=${join(packageRoot, 'bin', 'bunfig.toml')}`,
    '--no-env-file',
    ...(watch ? ['--watch'] : []),
    program,
    ...(watch ? args.slice(1) : args),
  ]);
} else run(program, args);
