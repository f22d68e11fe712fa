interface ChartToolsProps {
  readonly follows: boolean;
  /** Null if there is nothing to follow. */
  readonly onFollow: (() => void) | null;
  readonly onZoom: (way: 1 | -1) => void;
  readonly onFit: () => void;
}

/** The picture's own buttons, for those who have no wheel and know no keys. */
export function ChartTools({ follows, onFollow, onZoom, onFit }: ChartToolsProps) {
  return (
    <div class="chart-tools" role="toolbar" aria-label="Chart">
      <button type="button" aria-label="Zoom out" title="Zoom out (−)" onClick={() => onZoom(-1)}>
        <Icon path="M3 8h10" />
      </button>
      <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => onZoom(1)}>
        <Icon path="M3 8h10M8 3v10" />
      </button>
      <button type="button" aria-label="Fit the chart" title="Fit (0)" onClick={onFit}>
        <Icon path="M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3" />
      </button>
      {onFollow !== null && (
        <button
          type="button"
          aria-label="Follow the active state"
          title="Follow the active state"
          aria-pressed={follows}
          onClick={onFollow}
        >
          <Icon path="M8 1.5v3M8 11.5v3M1.5 8h3M11.5 8h3M8 4.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 0 0 0-7" />
        </button>
      )}
    </div>
  );
}

function Icon({ path }: { readonly path: string }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
