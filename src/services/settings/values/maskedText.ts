import { Option } from "effect"
import { isMap, isScalar, isSeq, Lexer, type ParsedNode, visit } from "yaml"
import { secretSettings } from "../../../schema/Settings.ts"
import { secretFields } from "../read/serverFields.ts"
import { secretTargetFields } from "../read/storedNotifyTargets.ts"
import { parseLossless } from "../servers/yaml/editServers.ts"
import { findPair, type MapNode, type PairNode, readWrittenValue } from "../servers/yaml/serverLayout.ts"
import { type Splice, spliceText } from "../servers/yaml/yamlText.ts"

/** Placeholder of a secret. */
export const mask = "***"

/** A URL without its user and password. */
export const maskUserInfo = (text: string): string => text.replace(/:\/\/[^\s/@"']+@/g, `://${mask}@`)

const isReference = (node: ParsedNode) => isScalar(node) && /^\$\{(?:env|file):[^{}]*\}$/.test(String(node.value))

const pairAt = (root: MapNode, name: string): Option.Option<PairNode> => {
  const [section = name, field] = name.split(".")
  const top = findPair(root, section)
  if (field === undefined) return top
  return Option.flatMap(top, ({ value }) => isMap(value) ? findPair(value, field) : Option.none())
}

const inList = (pair: Option.Option<PairNode>, fields: ReadonlyArray<string>) =>
  Option.match(pair, {
    onNone: () => [],
    onSome: ({ value }) =>
      isSeq(value)
        ? value.items.flatMap((item, index) =>
          isMap(item) ? fields.map((field) => ({ index, field, found: findPair(item, field) })) : []
        )
        : []
  })

/** Secrets that a change sets. Their masks say so, since a diff of masked values would not show the change. */
export interface NewSecrets {
  readonly settings?: ReadonlyArray<string>
  /** Fields of the server at this index of the list. */
  readonly server?: { readonly index: number; readonly fields: ReadonlyArray<string> }
}

const masks = { standing: `"${mask}"`, new: `"${mask} (new)"` } as const

/** Addresses whose user and password the text does not show plainly, such as `http:\/\/ann:pass@host`. */
const listHiddenUserInfo = (root: ParsedNode, text: string): ReadonlyArray<Splice> => {
  const splices: Array<Splice> = []
  visit(root, {
    Scalar: (_, { range, value }) => {
      if (typeof value !== "string" || range === null || range === undefined) return
      const [start, end] = range
      const masked = value.replace(/:\/\/[^\s/?#]+@/g, `://${mask}@`)
      const written = text.slice(start, end)
      if (masked !== value && (maskUserInfo(written) === written || maskUserInfo(value) !== masked)) {
        splices.push({ start, end, text: JSON.stringify(masked) })
      }
    }
  })
  return splices
}

/** Token of the lexer that announces a scalar, which may begin like a comment. */
const scalarFollows = "\u001f"
const isControl = (token: string) => /^[\u0002\u0018\u001f\ufeff]$/.test(token)

/** Masks the comments in the text of a settings file, which may have former secrets. */
export const maskComments = (text: string): string => {
  const tokens = [...new Lexer().lex(text)]
  return tokens.map((token, index) =>
    isControl(token) ? "" : token.startsWith("#") && tokens[index - 1] !== scalarFollows ? `# ${mask}` : token
  ).join("")
}

/** Masks the secrets in the text of a settings file; references are kept. None if it cannot be parsed. */
export const maskSettingsText = (text: string, { server, settings = [] }: NewSecrets): Option.Option<string> =>
  Option.gen(function*() {
    const root = (yield* parseLossless(text)).contents
    if (!isMap(root)) return text
    const hidden = (pair: Option.Option<PairNode>, words: string): ReadonlyArray<Splice> =>
      Option.toArray(Option.filter(Option.flatMap(pair, readWrittenValue), (node) => !isReference(node)))
        .map(({ range: [start, end] }) => ({ start, end, text: text[end - 1] === "\n" ? `${words}\n` : words }))
    const splices = [
      ...secretSettings.flatMap((name) =>
        hidden(pairAt(root, name), settings.includes(name) ? masks.new : masks.standing)
      ),
      ...inList(pairAt(root, "http.tokens"), ["token"]).flatMap(({ found }) => hidden(found, masks.standing)),
      ...inList(findPair(root, "notify"), secretTargetFields).flatMap(({ found }) => hidden(found, masks.standing)),
      ...inList(findPair(root, "servers"), secretFields).flatMap(({ field, found, index }) =>
        hidden(found, server?.index === index && server.fields.includes(field) ? masks.new : masks.standing)
      )
    ]
    const inSecret = ({ end, start }: Splice) => splices.some((each) => each.start <= start && end <= each.end)
    const addresses = listHiddenUserInfo(root, text).filter((each) => !inSecret(each))
    return maskUserInfo(spliceText(text, [...splices, ...addresses]))
  })

/** The text of the settings file before and after a change, without secrets. */
export interface ChangedText {
  readonly before: string
  readonly after: string
}

/** Masks the secrets in a change of the settings file. */
export const maskSettingsChange = (before: string, after: string, secrets: NewSecrets): ChangedText => {
  const shown = (text: string, secrets: NewSecrets) => Option.getOrElse(maskSettingsText(text, secrets), () => "")
  return { before: shown(before, {}), after: shown(after, after === before ? {} : secrets) }
}
