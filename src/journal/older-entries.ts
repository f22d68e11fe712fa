type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields that version 2 of the journal's format renamed, by entry type. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'call-start': { port: 'actor' },
  'call-event': { port: 'actor' },
  recovery: { how: 'action' },
  'attempt-retry': { inMs: 'delayMs' },
  'direction-refused': { got: 'received' },
  'consent-resolved': { summarised: 'summarized' },
};

/** The strings that version 2 renamed, in the fields that had them. */
const VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  type: { settled: 'done', broken: 'failed' },
  action: { again: 'repeat' },
  by: { nobody: 'default' },
  choice: { summarise: 'summarize' },
  reason: { broken_off: 'aborted', loop_broken: 'loop_detected' },
  code: { broken_off: 'aborted' },
};

/**
 * Converts an entry of a version 1 journal to version 2, so that the run can be listed, shown, inspected and exported. The result is not
 * validated.
 */
export function fromVersion1(value: unknown): unknown {
  if (!isObject(value)) return value;
  const entry = renamed(value, FIELDS[String(value['type'])] ?? {});
  if (entry['type'] === 'run-start') return fromStart(entry);
  if (entry['type'] === 'transition' && Array.isArray(entry['candidates']))
    return { ...entry, candidates: entry['candidates'].map((one) => renamed(one, { verdict: 'result' })) };
  if (entry['type'] === 'context-evaluated')
    return { ...entry, statistics: renamed(entry['statistics'], { summarised: 'summarized' }) };
  return Object.fromEntries(
    Object.entries(withValues(entry)).map(([name, inner]) => [name, isObject(inner) ? withValues(inner) : inner]),
  );
}

/**
 * Converts an entry from before replies contained lists of calls, when a reply named one call or none. Returns any other entry unchanged.
 * The result is not validated.
 */
export function withCallLists(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (value['type'] === 'continuation' && !Array.isArray(value['next']))
    return { ...value, next: listOf(value['next']) };
  const { event } = value;
  if (value['type'] !== 'call-event' || !isObject(event)) return value;
  const { reply, output } = event;
  if (value['actor'] === 'validateArguments' && isObject(output))
    return { ...value, event: { ...event, output: [output] } };
  if (isObject(reply) && isObject(reply['value']))
    return { ...value, event: { ...event, reply: { ...reply, value: withLists(reply['value']) } } };
  return value;
}

function withLists(reply: Fields): Fields {
  const { call, ...others } = reply;
  if (call !== undefined && 'response' in reply && !('calls' in reply)) return { ...others, calls: listOf(call) };
  return 'done' in reply && 'next' in reply && !Array.isArray(reply['next'])
    ? { ...reply, next: listOf(reply['next']) }
    : reply;
}

const listOf = (call: unknown): readonly unknown[] => (call === null || call === undefined ? [] : [call]);

function fromStart({ states, ...start }: Fields): Fields {
  return { ...start, keyframes: states, thresholds: renamed(start['thresholds'], { summarise: 'summarize' }) };
}

function renamed(value: unknown, names: Readonly<Record<string, string>>): Fields {
  return Object.fromEntries(Object.entries(Object(value)).map(([name, inner]) => [names[name] ?? name, inner]));
}

function withValues(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? (VALUES[name]?.[value] ?? value) : value,
    ]),
  );
}
