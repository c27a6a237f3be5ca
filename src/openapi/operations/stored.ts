// What is kept for clients: conversations, prompt templates, files.
import { z } from 'zod';
import type { Operation } from '../operation.ts';
import { anyObject, deleted, openaiList, page } from '../shapes.ts';

const audience = 'models';
const id = '$response.body#/id';
const metadata = z.record(z.string(), z.string()).describe('Up to 16 pairs.');
const items = z.array(z.looseObject({ type: z.string().optional() })).max(20);
const message = { type: 'message', role: 'user', content: 'Hello' };

const conversation = z.looseObject({
  id: z.string(),
  object: z.literal('conversation'),
  created_at: z.int(),
});
const ofConversation = { id: { description: 'The id of the conversation.' } };
const ofItem = { ...ofConversation, item: { description: 'The id of the item.' } };

const CONVERSATIONS: readonly Operation[] = (
  [
    {
      id: 'createConversation',
      method: 'post',
      path: '/v1/conversations',
      summary: 'Begins a conversation.',
      body: {
        schema: z.looseObject({ metadata: metadata.optional(), items: items.optional() }),
        example: { metadata: { topic: 'demo' }, items: [message] },
        isOptional: true,
      },
      answers: { 200: conversation },
      links: {
        retrieveConversation: { id },
        updateConversation: { id },
        listItems: { id },
        addItems: { id },
        deleteConversation: { id },
      },
    },
    {
      id: 'retrieveConversation',
      method: 'get',
      path: '/v1/conversations/{id}',
      summary: 'One conversation, without its items.',
      params: ofConversation,
      answers: { 200: conversation },
    },
    {
      id: 'updateConversation',
      method: 'post',
      path: '/v1/conversations/{id}',
      summary: 'Changes the metadata of a conversation.',
      params: ofConversation,
      body: { schema: z.looseObject({ metadata }), example: { metadata: { topic: 'other' } } },
      answers: { 200: conversation },
    },
    {
      id: 'listItems',
      method: 'get',
      path: '/v1/conversations/{id}/items',
      summary: 'The items of a conversation.',
      params: ofConversation,
      query: z.object(page),
      answers: { 200: openaiList(anyObject) },
    },
    {
      id: 'addItems',
      method: 'post',
      path: '/v1/conversations/{id}/items',
      summary: 'Adds items to a conversation.',
      params: ofConversation,
      body: { schema: z.looseObject({ items }), example: { items: [message] } },
      answers: { 200: openaiList(anyObject) },
    },
    {
      id: 'retrieveItem',
      method: 'get',
      path: '/v1/conversations/{id}/items/{item}',
      summary: 'One item of a conversation.',
      params: ofItem,
      answers: { 200: anyObject },
    },
    {
      id: 'deleteItem',
      method: 'delete',
      path: '/v1/conversations/{id}/items/{item}',
      summary: 'Takes an item out of a conversation.',
      params: ofItem,
      answers: { 200: conversation },
    },
    {
      id: 'deleteConversation',
      method: 'delete',
      path: '/v1/conversations/{id}',
      summary: 'Deletes a conversation and its items.',
      params: ofConversation,
      answers: { 200: deleted },
    },
  ] as const
).map((operation) => ({ ...operation, tag: 'Conversations', audience, refusals: [402, 404, 409] }));

const prompt = z.looseObject({ id: z.string(), object: z.literal('prompt'), default_version: z.string() });
const ofPrompt = { id: { description: 'The id of the prompt.' } };
const template = z.looseObject({}).describe('A request with `{{variables}}` in its texts.');
const templateExample = { input: [{ role: 'user', content: 'Hello {{name}}' }] };

const PROMPTS: readonly Operation[] = (
  [
    {
      id: 'createPrompt',
      method: 'post',
      path: '/v1/prompts',
      summary: 'Keeps a prompt template.',
      body: {
        schema: z.looseObject({ name: z.string().max(256).nullable().optional(), template }),
        example: { name: 'greeting', template: templateExample },
      },
      answers: { 200: prompt },
      links: { retrievePrompt: { id }, updatePrompt: { id }, addPromptVersion: { id }, deletePrompt: { id } },
    },
    {
      id: 'listPrompts',
      method: 'get',
      path: '/v1/prompts',
      summary: 'All prompt templates: those of files first.',
      query: z.object(page),
      answers: { 200: openaiList(prompt) },
    },
    {
      id: 'retrievePrompt',
      method: 'get',
      path: '/v1/prompts/{id}',
      summary: 'One prompt, with the template of a version.',
      params: ofPrompt,
      query: z.object({ version: z.string().optional() }),
      answers: { 200: prompt },
    },
    {
      id: 'updatePrompt',
      method: 'post',
      path: '/v1/prompts/{id}',
      summary: 'Renames a prompt, or makes another version the default.',
      params: ofPrompt,
      body: {
        schema: z.looseObject({
          name: z.string().max(256).nullable().optional(),
          default_version: z.string().optional(),
        }),
        example: { name: 'welcome' },
      },
      answers: { 200: prompt },
    },
    {
      id: 'addPromptVersion',
      method: 'post',
      path: '/v1/prompts/{id}/versions',
      summary: 'Adds a version to a prompt.',
      params: ofPrompt,
      body: {
        schema: z.looseObject({ template, default: z.boolean().optional() }),
        example: { template: templateExample },
      },
      answers: { 200: prompt },
    },
    {
      id: 'deletePromptVersion',
      method: 'delete',
      path: '/v1/prompts/{id}/versions/{version}',
      summary: 'Deletes a version that is not the default.',
      params: { ...ofPrompt, version: { description: 'The number of the version.' } },
      answers: { 200: prompt },
    },
    {
      id: 'deletePrompt',
      method: 'delete',
      path: '/v1/prompts/{id}',
      summary: 'Deletes a prompt with all versions.',
      params: ofPrompt,
      answers: { 200: deleted },
    },
  ] as const
).map((operation) => ({ ...operation, tag: 'Prompts', audience, refusals: [402, 404, 409] }));

const file = z.looseObject({
  id: z.string(),
  object: z.literal('file'),
  bytes: z.int(),
  filename: z.string(),
  purpose: z.string(),
});
const ofFile = { id: { description: 'The id of the file.' } };

const FILES: readonly Operation[] = (
  [
    {
      id: 'uploadFile',
      method: 'post',
      path: '/v1/files',
      summary: 'Uploads a file that requests can then name.',
      body: {
        type: 'multipart/form-data',
        schema: z.object({
          purpose: z.enum(['user_data', 'vision']),
          file: z.string().meta({ contentMediaType: 'application/octet-stream' }).describe('Its bytes.'),
        }),
        example: { purpose: 'user_data', file: 'Some text.' },
      },
      answers: { 200: file },
      links: { retrieveFile: { id }, downloadFile: { id }, deleteFile: { id } },
    },
    {
      id: 'listFiles',
      method: 'get',
      path: '/v1/files',
      summary: 'All files of the project.',
      query: z.object({
        ...page,
        limit: z.coerce.number().int().min(1).max(10_000).optional(),
        purpose: z.string().optional(),
      }),
      answers: { 200: openaiList(file) },
    },
    {
      id: 'retrieveFile',
      method: 'get',
      path: '/v1/files/{id}',
      summary: 'What is known of a file.',
      params: ofFile,
      answers: { 200: file },
    },
    {
      id: 'downloadFile',
      method: 'get',
      path: '/v1/files/{id}/content',
      summary: 'The bytes of a file.',
      params: ofFile,
      answers: { 200: { '*/*': z.string().meta({ contentMediaType: 'application/octet-stream' }) } },
    },
    {
      id: 'deleteFile',
      method: 'delete',
      path: '/v1/files/{id}',
      summary: 'Deletes a file.',
      params: ofFile,
      answers: { 200: deleted },
    },
  ] as const
).map((operation) => ({ ...operation, tag: 'Files', audience, refusals: [402, 404] }));

export const STORED_OPERATIONS: readonly Operation[] = [...CONVERSATIONS, ...PROMPTS, ...FILES];
