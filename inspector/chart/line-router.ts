import type { Box, Point } from './drawing.ts';

/** The distance between grid lines, in pixels. */
export const GRID = 8;
const CLEARANCE = 7;
const COST = { bend: 26, shared: 400, crossing: 60, together: 0.4 } as const;

/** A possible start or end of a line: a point on a border, and the outward direction. */
export interface Port extends Point {
  readonly outX: -1 | 0 | 1;
  readonly outY: -1 | 0 | 1;
  /** Added to the cost of routes that use it. */
  readonly cost: number;
}

/** Finds orthogonal routes around boxes; avoids overlapping lines if possible. */
interface LineRouter {
  /** Returns an empty path if there is no route. Lines of the same bundle (numbered from 1) may share their path. */
  readonly route: (from: readonly Port[], to: readonly Port[], bundle: number) => readonly Point[];
  /** Later lines avoid this box. */
  readonly block: (box: Box) => void;
}

export function createRouter(area: Box, boxes: readonly Box[]): LineRouter {
  const xs = linesOf(area.x, area.x + area.width);
  const ys = linesOf(area.y, area.y + area.height);
  const columns = xs.length;
  const blocked = new Uint8Array(columns * ys.length);
  const block = (box: Box): void => {
    for (const [row, y] of ys.entries()) {
      if (y <= box.y - CLEARANCE || y >= box.y + box.height + CLEARANCE) continue;
      for (const [column, x] of xs.entries())
        if (x > box.x - CLEARANCE && x < box.x + box.width + CLEARANCE) blocked[row * columns + column] = 1;
    }
  };
  for (const box of boxes) block(box);
  /** The bundle of the line that passes a grid point, by axis: 0 along x, 1 along y. */
  const used = [new Uint16Array(blocked.length), new Uint16Array(blocked.length)] as const;
  const nodeOf = ({ x, y, outX, outY }: Port): number => {
    const column = outX === 0 ? xs.indexOf(x) : nextLine(xs, x, outX);
    const row = outY === 0 ? ys.indexOf(y) : nextLine(ys, y, outY);
    const node = row < 0 || column < 0 ? -1 : row * columns + column;
    return node >= 0 && blocked[node] === 1 ? -1 : node;
  };
  const axisOf = ({ outX }: Port): number => (outX === 0 ? 1 : 0);

  const route = (from: readonly Port[], to: readonly Port[], bundle: number): readonly Point[] => {
    const isOther = (axis: number, node: number): boolean => {
      const other = used[axis]?.[node] ?? 0;
      return other !== 0 && other !== bundle;
    };
    const ends = new Map<number, Port>();
    for (const port of to) {
      const node = nodeOf(port);
      if (node >= 0) ends.set(node * 2 + axisOf(port), port);
    }
    const visited = new Uint8Array(blocked.length * 2);
    const reach = extentOf([...ends.values()]);
    /** A lower bound for the remaining distance (the A* heuristic). */
    const ahead = (node: number): number => {
      const column = node % columns;
      const [x = 0, y = 0] = [xs[column], ys[(node - column) / columns]];
      const [far, up] = [Math.max(reach.left - x, x - reach.right, 0), Math.max(reach.top - y, y - reach.bottom, 0)];
      return Math.max(0, far + up - 4 * GRID) * COST.together;
    };
    const starts = new Map<number, Port>();
    const costs = new Float64Array(blocked.length * 2).fill(Number.POSITIVE_INFINITY);
    const before = new Int32Array(blocked.length * 2).fill(-1);
    const queue = createQueue();
    for (const port of from) {
      const node = nodeOf(port);
      const key = node * 2 + axisOf(port);
      const cost = port.cost + (isOther(axisOf(port), node) ? COST.shared : 0);
      if (node < 0 || cost >= (costs[key] as number)) continue;
      starts.set(key, port);
      costs[key] = cost;
      queue.add(key, cost + ahead(node));
    }
    let best = { cost: Number.POSITIVE_INFINITY, key: -1 };
    for (let key = queue.take(); key >= 0; key = queue.take()) {
      const cost = costs[key] as number;
      if (visited[key] === 1) continue;
      visited[key] = 1;
      if (cost >= best.cost) break;
      const end = ends.get(key);
      if (end !== undefined && cost + end.cost < best.cost) best = { cost: cost + end.cost, key };
      const axis = key % 2;
      const node = (key - axis) / 2;
      const column = node % columns;
      const row = (node - column) / columns;
      const step = (next: number, length: number, along: number): void => {
        if (blocked[next] === 1) return;
        const bend = along === axis ? 0 : COST.bend;
        const shared = isOther(along, next) ? COST.shared : 0;
        const crossing = isOther(1 - along, next) ? COST.crossing : 0;
        const way = used[along]?.[next] === bundle ? length * COST.together : length;
        const total = cost + way + bend + shared + crossing;
        const nextKey = next * 2 + along;
        if (total >= (costs[nextKey] as number)) return;
        costs[nextKey] = total;
        before[nextKey] = key;
        queue.add(nextKey, total + ahead(next));
      };
      const [x = 0, y = 0] = [xs[column], ys[row]];
      if (column > 0) step(node - 1, x - (xs[column - 1] ?? 0), 0);
      if (column < columns - 1) step(node + 1, (xs[column + 1] ?? 0) - x, 0);
      if (row > 0) step(node - columns, y - (ys[row - 1] ?? 0), 1);
      if (row < ys.length - 1) step(node + columns, (ys[row + 1] ?? 0) - y, 1);
    }
    if (best.key < 0) return [];
    const keys = [best.key];
    for (let key = before[best.key] as number; key >= 0; key = before[key] as number) keys.unshift(key);
    for (const [index, key] of keys.entries()) {
      const node = (key - (key % 2)) / 2;
      (used[key % 2] as Uint16Array)[node] = bundle;
      const next = keys[index + 1];
      if (next !== undefined) (used[next % 2] as Uint16Array)[node] = bundle;
    }
    const [first = 0] = keys;
    const path = keys.map((key) => ({
      x: xs[((key - (key % 2)) / 2) % columns] ?? 0,
      y: ys[Math.floor((key - (key % 2)) / 2 / columns)] ?? 0,
    }));
    return [pointOf(starts.get(first)), ...path, pointOf(ends.get(best.key))].filter((point) => point !== null);
  };
  return { route, block };
}

function extentOf(ports: readonly Port[]) {
  const [xs, ys] = [ports.map(({ x }) => x), ports.map(({ y }) => y)];
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
}

const pointOf = (port: Port | undefined): Point | null => (port === undefined ? null : { x: port.x, y: port.y });

function linesOf(from: number, to: number): readonly number[] {
  const lines: number[] = [];
  for (let line = Math.ceil(from / GRID) * GRID; line <= to; line += GRID) lines.push(line);
  return lines;
}

/** The first line beyond the clearance of a border. */
function nextLine(lines: readonly number[], from: number, direction: number): number {
  if (direction > 0) return lines.findIndex((line) => line >= from + CLEARANCE);
  return lines.findLastIndex((line) => line <= from - CLEARANCE);
}

/** A priority queue of keys by cost; `take` returns -1 if it is empty. A key can be in it twice. */
function createQueue() {
  const heap: { readonly key: number; readonly cost: number }[] = [];
  const swap = (one: number, other: number): void => {
    [heap[one], heap[other]] = [heap[other] as never, heap[one] as never];
  };
  const costAt = (index: number): number => heap[index]?.cost ?? Number.POSITIVE_INFINITY;
  return {
    add: (key: number, cost: number): void => {
      heap.push({ key, cost });
      for (let at = heap.length - 1; at > 0 && costAt(at) < costAt((at - 1) >> 1); at = (at - 1) >> 1)
        swap(at, (at - 1) >> 1);
    },
    take: (): number => {
      const first = heap[0];
      const last = heap.pop();
      if (first === undefined || last === undefined) return -1;
      if (heap.length === 0) return first.key;
      heap[0] = last;
      for (let at = 0; ; ) {
        const min = costAt(2 * at + 1) <= costAt(2 * at + 2) ? 2 * at + 1 : 2 * at + 2;
        if (costAt(min) >= costAt(at)) break;
        swap(at, min);
        at = min;
      }
      return first.key;
    },
  };
}
