// Port of pub/sub messages between processes through a shared database. Messages are short, and are not stored.
import type { DurationMs } from '../../base/units.ts';

/** Largest message in bytes. */
export const MOST_NOTICE_BYTES = 7_900;

export interface NoticeListener {
  /** False once its connection is gone. */
  readonly isOpen: boolean;
  close(): void;
}

/** All methods reject with a GatewayError 503 while the database is unreachable. */
export interface NoticeStore {
  /** Registers a process as a subscriber for some time. */
  want(self: string, forMs: DurationMs): Promise<void>;
  /** True if another process is a subscriber. */
  isWanted(self: string): Promise<boolean>;
  /** Publishes to all current subscribers. @param text at most `MOST_NOTICE_BYTES` of UTF-8, without NUL */
  publish(text: string): Promise<void>;
  /** Receives all messages from now on, including those of this process, on a separate connection. */
  subscribe(received: (text: string) => void): Promise<NoticeListener>;
}
