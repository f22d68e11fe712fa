import type { ContextLog } from '../../fold/context-log.ts';
import { type ContextRow, versionBefore } from '../../fold/context-rows.ts';
import { counted, rounded } from '../../fold/number-words.ts';
import { shortly, visible } from '../../ui-state/text.ts';
import { LongText } from '../long-text.tsx';
import { MessageTrail } from './message-trail.tsx';
import { PhaseName } from './phase-name.tsx';
import type { Rated } from './relevances.ts';

interface MessageItemProps {
  readonly row: ContextRow;
  readonly log: ContextLog;
  /** Operations that were applied at the cursor. */
  readonly applied: number;
  readonly rated: Rated | null;
}

export function MessageItem({ row, log, applied, rated }: MessageItemProps) {
  const { pruned, arrival } = row;
  const message = pruned === null || arrival === null ? row.message : versionBefore(log, arrival, pruned);
  const { role, id, phase, cycle, content, importance } = message;
  return (
    <li class={pruned === null ? 'message' : 'message pruned'} data-message={id}>
      <div class="marks">
        <span class={`role ${role}`}>
          <span class="mark" aria-hidden="true" />
          {role}
        </span>
        {pruned !== null && <strong class="gone">pruned</strong>}
        <code class="told">{shortly(id, 40)}</code>
        {phase !== null && <PhaseName phase={phase} />}
        <span class="muted">cycle {cycle}</span>
        <Share name="importance" value={importance} />
        {rated === null ? (
          <Unrated />
        ) : (
          <Share name="relevance" value={rated.relevance} title={shortly(rated.reason, 200)} />
        )}
        <span class="muted">{counted(content.length, 'character')}</span>
      </div>
      <LongText text={content} struck={pruned !== null} />
      <MessageTies message={message} />
      <MessageTrail row={row} log={log} applied={applied} />
    </li>
  );
}

/** A number from 0 to 1, and a small bar. */
function Share({ name, value, title }: { readonly name: string; readonly value: number; readonly title?: string }) {
  return (
    <span class="share" title={title}>
      <span class="muted">{name}</span> {rounded(value)}
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${Math.max(0, Math.min(1, value)) * 100}%` }} />
      </span>
    </span>
  );
}

const Unrated = () => (
  <span class="share" title="Nothing has rated it yet">
    <span class="muted">relevance</span> –
    <span class="bar" aria-hidden="true" />
  </span>
);

/** Where it stands in a document, and what came later: tags, links, and what it was made from. */
function MessageTies({ message: { tags, links, references, source } }: { readonly message: ContextRow['message'] }) {
  if (tags.length + links.length + references.length === 0 && source === null) return null;
  return (
    <p class="ties">
      {source !== null && (
        <code class="told">
          {visible(source.path)}:{source.startLine}-{source.endLine}
        </code>
      )}
      {tags.map((tag) => (
        <span key={tag} class="tag told">
          {shortly(tag, 40)}
        </span>
      ))}
      {links.map(({ to, relation, strength }) => (
        <span key={`${to} ${relation}`} class="told">
          linked to {shortly(to, 40)} ({shortly(relation, 40)} {rounded(strength)})
        </span>
      ))}
      {references.length > 0 && (
        <span class="told">made from {references.map((reference) => shortly(reference, 40)).join(', ')}</span>
      )}
    </p>
  );
}
