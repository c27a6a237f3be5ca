#!/usr/bin/env node
// The `dragoman` command.
import { ensureInstalled } from './installed.mjs';
import { developmentCommand, programCommand } from './program.mjs';
import { become, packageRoot } from './runtime.mjs';

const args = process.argv.slice(2);
// Packages are downloaded only by `npm start`, never by a program that runs the command.
if (process.env.npm_lifecycle_event === 'start') ensureInstalled(packageRoot, false);
become(args[0] === '--watch' ? developmentCommand(args.slice(1)) : programCommand(args));
