/** A proxy file as people write them: comments, a blank line here and there, middlewares between routers and services. */
export const plainFile = `# edited by hand, too
http:
  routers:
    blog:
      rule: "Host(\`blog.example.com\`)"
      entryPoints:
        - https
      service: blog
      tls:
        certResolver: letsencrypt
    blog-http:
      rule: "Host(\`blog.example.com\`)"
      entryPoints:
        - http
      middlewares:
        - redirect-to-https
      service: blog

  middlewares:
    redirect-to-https:
      redirectScheme:
        scheme: https

  services:
    blog:
      loadBalancer:
        servers:
          - url: "http://192.168.1.20:2010"
`

/** The two routers of a route as Berth writes them. */
export const routersOf = (name: string, domain: string): string =>
  `    ${name}:
      rule: "Host(\`${domain}\`)"
      entryPoints:
        - https
      service: ${name}
      tls:
        certResolver: letsencrypt
    ${name}-http:
      rule: "Host(\`${domain}\`)"
      entryPoints:
        - http
      middlewares:
        - redirect-to-https
      service: ${name}
`

/** The service of a route as Berth writes it. */
export const serviceOf = (name: string, target: string): string =>
  `    ${name}:
      loadBalancer:
        servers:
          - url: "http://${target}"
`
