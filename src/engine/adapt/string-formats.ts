// The string formats of JSON Schema that answers are held to: those that OpenAI documents for structured outputs
// ("Supported schemas", read 2026-11), and addresses. Others are not checked, as the specification allows.

/** Longer than anything of these formats. */
const LONGEST = 2_000;

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
/** RFC 3339: seconds may have fractions, and one minute in years has a second more. */
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/i;
/** RFC 3339, appendix A. */
const DURATION = /^P(?!$)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$|^P\d+W$/;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
const EMAIL_NAME = /^[^\s@"(),:;<>[\\\]]{1,64}$/;
const BYTE = /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

/** By name, whether a text has the format. */
export const STRING_FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: short(isDate),
  time: short((text) => TIME.test(text)),
  'date-time': short(
    (text) => isDate(text.slice(0, 10)) && /^[t ]$/i.test(text.charAt(10)) && TIME.test(text.slice(11)),
  ),
  duration: short((text) => DURATION.test(text)),
  email: short((text) => {
    const at = text.lastIndexOf('@');
    return EMAIL_NAME.test(text.slice(0, Math.max(at, 0))) && isHostname(text.slice(at + 1));
  }),
  hostname: short(isHostname),
  ipv4: short(isIpv4),
  ipv6: short(isIpv6),
  uuid: short((text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)),
  uri: short((text) => /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]*$/i.test(text)),
};

function short(test: (text: string) => boolean): (text: string) => boolean {
  return (text) => text.length <= LONGEST && test(text);
}

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (day === undefined) return false;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => LABEL.test(label));
}

function isIpv4(text: string): boolean {
  const bytes = text.split('.');
  return bytes.length === 4 && bytes.every((byte) => BYTE.test(byte));
}

function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [index, half] of halves.entries()) {
    const parts = half === '' ? [] : half.split(':');
    const last = parts.at(-1);
    const isLastHalf = index === halves.length - 1;
    if (isLastHalf && last !== undefined && isIpv4(last)) {
      parts.pop();
      groups += 2;
    }
    if (!parts.every((part) => /^[0-9a-f]{1,4}$/i.test(part))) return false;
    groups += parts.length;
  }
  return halves.length === 2 ? groups < 8 : groups === 8;
}
