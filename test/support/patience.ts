// Patience of all tests: a busy machine makes them late, not wrong. The runner loads this file before each test file. Only
// tests that take longer, or that measure time, have a limit of their own.
import { setDefaultTimeout } from 'bun:test';

setDefaultTimeout(120_000);
