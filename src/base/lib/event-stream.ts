// Form of event streams (HTML standard, "Server-sent events").

/** Content type of an event stream. */
export const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8';

/** A named event. @param data one line */
export function eventFrame(type: string, data: string): string {
  return `event: ${type}\ndata: ${data}\n\n`;
}
