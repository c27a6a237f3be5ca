// Port of messages between processes through a database that they share: short, and only while a process listens.
import type { DurationMs } from '../../base/units.ts';

/** Bytes of a notice. */
export const MOST_NOTICE_BYTES = 7_900;

export interface NoticeListener {
  /** False once its connection is gone. */
  readonly isOpen: boolean;
  close(): void;
}

/** Each method rejects with a GatewayError 503 while the database is away. */
export interface NoticeStore {
  /** Says that a process wants what is published, for so many milliseconds. */
  want(self: string, forMs: DurationMs): Promise<void>;
  /** Whether another process wants it. */
  isWanted(self: string): Promise<boolean>;
  /** Publishes to all who subscribe just now. @param text at most `MOST_NOTICE_BYTES` of UTF-8, without NUL */
  publish(text: string): Promise<void>;
  /** Receives all that is published from now on, also by this process, on a connection of its own. */
  subscribe(received: (text: string) => void): Promise<NoticeListener>;
}
