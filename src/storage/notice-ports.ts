// What processes tell each other through a database that they share: short, and only while somebody wants to hear it.

/** Bytes of a notice. */
export const MOST_NOTICE_BYTES = 7_900;

export interface NoticeListener {
  /** False once its connection is gone. */
  readonly isOpen: boolean;
  close(): void;
}

/** Each method rejects with a GatewayError 503 while the database is away. */
export interface NoticeStore {
  /** Says that a process wants to hear, for so many milliseconds. */
  want(self: string, forMs: number): Promise<void>;
  /** Whether another process wants to hear. */
  isWanted(self: string): Promise<boolean>;
  /** Tells all who hear just now. @param text at most `MOST_NOTICE_BYTES` of UTF-8, without NUL */
  send(text: string): Promise<void>;
  /** Hears all that is told from now on, also what this process tells, on a connection of its own. */
  hear(heard: (text: string) => void): Promise<NoticeListener>;
}
