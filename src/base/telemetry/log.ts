// Structured log: one JSON object per line, or a readable line for a terminal. Never log a body or a prompt.
import type { Redact } from './redact.ts';
import type { UnixMs } from '../units.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** True if lines of this level are written. Check it before expensive work. */
  enabled(level: Exclude<LogLevel, 'silent'>): boolean;
  /** A logger that adds these fields to every line. */
  with(fields: LogFields): Logger;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Writes one line, newline included; usually to standard error. */
  readonly write: (line: string) => void;
  readonly now: () => UnixMs;
  /** True: readable lines. False: JSON. */
  readonly pretty?: boolean | undefined;
  readonly redact?: Redact | undefined;
}

/** Creates a logger. Logging never throws; a field that cannot be serialised is replaced by a note. */
export function createLogger(options: LogOptions): Logger {
  return loggerWith(options, {});
}

function loggerWith(options: LogOptions, bound: LogFields): Logger {
  const threshold = LOG_LEVELS.indexOf(options.level);
  const enabled = (level: LogLevel): boolean => LOG_LEVELS.indexOf(level) >= threshold;
  const log = (level: LogLevel, message: string, fields: LogFields | undefined): void => {
    if (!enabled(level)) return;
    const time = new Date(options.now()).toISOString();
    const all = { ...bound, ...fields };
    options.write(
      `${options.pretty ? prettyLine(time, level, message, all, options.redact) : jsonLine(time, level, message, all, options.redact)}\n`,
    );
  };
  return {
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
    enabled,
    with: (fields) => loggerWith(options, { ...bound, ...fields }),
  };
}

function jsonLine(
  time: string,
  level: LogLevel,
  message: string,
  fields: LogFields,
  redact: Redact | undefined,
): string {
  // The fixed members come first and cannot be overwritten by a field of the same name.
  const { time: _time, level: _level, message: _message, ...rest } = fields;
  return serialise({ time, level, message, ...rest }, redact);
}

function prettyLine(
  time: string,
  level: LogLevel,
  message: string,
  fields: LogFields,
  redact: Redact | undefined,
): string {
  const clock = time.slice(11, 23);
  const text = redact ? redact(message) : message;
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${serialise(value, redact)}`)
    .join('');
  return `${clock} ${level.toUpperCase().padEnd(5)} ${text}${rest}`;
}

function serialise(value: unknown, redact: Redact | undefined): string {
  try {
    const text = JSON.stringify(value, (_name, member: unknown) => {
      if (typeof member === 'string') return redact ? redact(member) : member;
      if (typeof member === 'bigint') return String(member);
      if (member instanceof Error) return errorFields(member);
      return member;
    });
    return text ?? 'null';
  } catch {
    return '"[not serialisable]"';
  }
}

/** An error class that chooses its own log fields. Other errors are logged with their stack. */
export interface LoggedError {
  logFields(): LogFields;
}

function errorFields(error: Error): LogFields {
  if ('logFields' in error && typeof error.logFields === 'function')
    return (error as LoggedError).logFields();
  return { name: error.name, message: error.message, stack: error.stack, cause: error.cause };
}
