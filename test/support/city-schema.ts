/** JSON schema of the arguments of `get_weather`, closed as strict mode requires. */
export const CITY = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
