/** The mark of Tidings: a swallow in the shape of a T. `public/favicon.svg` shows the same. */
export const Mark = ({ size = 24 }: { size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" style={{ flex: 'none' }}>
    <rect width="24" height="24" rx="6.5" fill="var(--accent)" />
    <path
      fill="#fff"
      d="M3.7 7.1c3.9-.9 6.8.1 8.3 2.5 1.5-2.4 4.4-3.4 8.3-2.5-3.5 1-5.7 3-6.3 5.7l1.2 5.9L12 16.1l-3.2 2.6 1.2-5.9C9.4 10.1 7.2 8.1 3.7 7.1z"
    />
  </svg>
)
