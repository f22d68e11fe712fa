import { grouped } from '../../fold/number-words.ts';

interface PagerProps {
  readonly page: number;
  readonly pageSize: number;
  readonly count: number;
  readonly noun: string;
  readonly onPage: (page: number) => void;
}

/** Goes through a long list by pages. Shows nothing where one is enough. */
export function Pager({ page, pageSize, count, noun, onPage }: PagerProps) {
  const last = lastPage(count, pageSize);
  if (last === 0) return null;
  const from = page * pageSize;
  return (
    <nav class="pager" aria-label={`Pages of ${noun}`}>
      <button type="button" disabled={page === 0} onClick={() => onPage(0)} aria-label="First page">
        «
      </button>
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)} aria-label="Page before">
        ‹
      </button>
      <span>
        {grouped(from + 1)}–{grouped(Math.min(count, from + pageSize))} of {grouped(count)} {noun}
      </span>
      <button type="button" disabled={page === last} onClick={() => onPage(page + 1)} aria-label="Next page">
        ›
      </button>
      <button type="button" disabled={page === last} onClick={() => onPage(last)} aria-label="Last page">
        »
      </button>
    </nav>
  );
}

export const lastPage = (count: number, pageSize: number): number => Math.max(0, Math.ceil(count / pageSize) - 1);
