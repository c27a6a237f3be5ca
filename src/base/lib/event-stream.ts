// Form of event streams (HTML standard, "Server-sent events").

/** Content type of an event stream. */
export const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8';

const EVENT_NAME = /^[\w.-]+$/;

/** True for a name that can be passed on: one with a line break would begin another field. */
export function isEventName(name: unknown): name is string {
  return typeof name === 'string' && EVENT_NAME.test(name);
}

/** A named event. @param data one line */
export function eventFrame(type: string, data: string): string {
  return `event: ${type}\ndata: ${data}\n\n`;
}
