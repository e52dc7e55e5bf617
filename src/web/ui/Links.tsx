import { CopyButton } from "./CopyButton.tsx"

const hostOf = (url: string) => url.replace(/^https?:\/\//, "")

/** Link to a domain or published port. The service never returns `javascript:` or similar URLs. */
export const OutLink = ({ url }: { readonly url: string }) => (
  <a className="link" href={url} target="_blank" rel="noreferrer">{hostOf(url)}</a>
)

/** First link of a project, with the number of the others. */
export const FirstLink = ({ urls: [first, ...others] }: { readonly urls: ReadonlyArray<string> }) =>
  first === undefined ? <span className="quiet">–</span> : (
    <>
      <OutLink url={first} />
      {others.length === 0 ? null : <span className="quiet" title={others.join("\n")}>+{others.length}</span>}
    </>
  )

/** All links of a project, each with a button that copies it. */
export const Links = ({ urls }: { readonly urls: ReadonlyArray<string> }) => (
  <span className="links">
    {urls.map((url) => (
      <span key={url} className="with-copy">
        <OutLink url={url} />
        <CopyButton name={hostOf(url)} text={url} />
      </span>
    ))}
  </span>
)
