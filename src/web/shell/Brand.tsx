import { Link } from "wouter"

/** Product name, linked to the overview. */
export const Brand = () => (
  <Link href="/" className="brand">
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#1557d6" />
      <g fill="none" stroke="#fff" strokeWidth="2" strokeLinejoin="round" strokeLinecap="round">
        <path d="M13 8h5v4h-5zM9.500 12h5v4.500h-5zM17.500 12h5v4.500h-5z" />
        <path d="M6.500 17h19l-2.500 5.500H9z" />
        <path d="M7 25.500c2 0 2-1 4.500-1s2.500 1 4.500 1 2-1 4.500-1 2.500 1 4.500 1" />
      </g>
    </svg>
    Berth
  </Link>
)
