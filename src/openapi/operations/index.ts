// Every operation of the API: one line for each part of it.
import type { Operation } from '../operation.ts';
import { CHAT_OPERATIONS } from './chat.ts';
import { GEMINI_OPERATIONS } from './gemini.ts';
import { MANAGEMENT_OPERATIONS } from './management.ts';
import { MESSAGES_OPERATIONS } from './messages.ts';
import { RESPONSES_OPERATIONS } from './responses.ts';
import { GATEWAY_OPERATIONS } from './gateway.ts';
import { STORED_OPERATIONS } from './stored.ts';

export const OPERATIONS: readonly Operation[] = [
  ...CHAT_OPERATIONS,
  ...RESPONSES_OPERATIONS,
  ...MESSAGES_OPERATIONS,
  ...GEMINI_OPERATIONS,
  ...STORED_OPERATIONS,
  ...GATEWAY_OPERATIONS,
  ...MANAGEMENT_OPERATIONS,
];
