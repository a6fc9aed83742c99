package kafka

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// SASLOptions are how clients prove who they are, beside user and password.
type SASLOptions struct {
	SASL string `option:"sasl" enum:"plain,scram-sha-256,scram-sha-512,oauthbearer,aws-msk-iam" doc:"how clients prove who they are: by user and password; oauthbearer by a token; aws-msk-iam by an access key of AWS (user) and its secret (password)"`
	kit.BearerOptions
	SessionToken string `option:"session_token" secret:"true" doc:"aws-msk-iam: the token of a temporary access key"`
	AWSFile      string `option:"aws_file" names:"file" doc:"aws-msk-iam: a credentials file of AWS, which is read for each login, instead of user, password and session_token"`
	AWSProfile   string `option:"aws_profile" doc:"aws-msk-iam: which profile of aws_file"`
}

// The values of SASL that code decides by.
const (
	oauthbearer = "oauthbearer"
	mskIAM      = "aws-msk-iam"
)

// check says which of the options contradict each other.
func (o *SASLOptions) check(u *kit.UserOptions) error {
	wrong := failures().Option
	switch {
	case o.SASL != oauthbearer && o.BearerOptions.Given():
		return wrong("sasl", "a token needs sasl oauthbearer")
	case o.SASL != mskIAM && o.SessionToken+o.AWSFile != "":
		return wrong("sasl", "credentials of AWS need sasl aws-msk-iam")
	case o.SASL == oauthbearer:
		return o.Bearer(u.User, u.Password, time.Second).Check(failures(), "user", "password")
	case o.SASL == mskIAM && o.AWSFile == "" && (u.User == "" || u.Password == ""):
		return wrong("sasl", "aws-msk-iam needs user, the access key's id, and password, its secret; or aws_file")
	case o.SASL == mskIAM && o.AWSFile != "" && u.User+u.Password+o.SessionToken != "":
		return wrong("aws_file", "it has the access key; leave user, password and session_token out")
	}
	return nil
}

// logsIn reports whether clients log in.
func (o *Options) logsIn() bool { return o.User != "" || o.SASL == oauthbearer || o.SASL == mskIAM }

// mechanism returns how clients log in; nil: they do not.
func (o *Options) mechanism() sasl.Mechanism {
	switch {
	case !o.logsIn():
		return nil
	case o.SASL == oauthbearer:
		b := o.Bearer(o.User, o.Password, o.ConnectTimeout)
		return bearing{oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
			token, err := b.Token(ctx)
			return oauth.Auth{Token: token}, err
		})}
	case o.SASL == mskIAM:
		return aws.ManagedStreamingIAM(func(context.Context) (aws.Auth, error) {
			if o.AWSFile != "" {
				return awsKey(o.AWSFile, cmp.Or(o.AWSProfile, "default"))
			}
			return aws.Auth{AccessKey: o.User, SecretKey: o.Password, SessionToken: o.SessionToken}, nil
		})
	case o.SASL == "scram-sha-256":
		return scram.Auth{User: o.User, Pass: o.Password}.AsSha256Mechanism()
	case o.SASL == "scram-sha-512":
		return scram.Auth{User: o.User, Pass: o.Password}.AsSha512Mechanism()
	}
	return plain.Auth{User: o.User, Pass: o.Password}.AsMechanism()
}

// bearing is OAUTHBEARER by the library, which does not say what the broker answers to a token that it refuses (RFC 7628,
// section 3.2.2).
type bearing struct{ sasl.Mechanism }

func (m bearing) Authenticate(ctx context.Context, host string) (sasl.Session, []byte, error) {
	s, first, err := m.Mechanism.Authenticate(ctx, host)
	return bearingSession{s}, first, err
}

type bearingSession struct{ sasl.Session }

func (s bearingSession) Challenge(answer []byte) (bool, []byte, error) {
	if len(answer) > 0 {
		return false, nil, fmt.Errorf("%w: the broker refuses the token: %s", driver.ErrUnauthorized, answer)
	}
	return s.Session.Challenge(answer)
}

// awsKey reads the access key of a profile from a credentials file of AWS.
func awsKey(name, profile string) (a aws.Auth, err error) {
	f, err := os.Open(name)
	if err != nil {
		return a, fmt.Errorf("%w: the access key: %w", driver.ErrUnauthorized, err)
	}
	defer f.Close()
	within := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			within = strings.TrimSpace(strings.Trim(line, "[]")) == profile
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if value = strings.TrimSpace(value); !within {
			continue
		}
		switch strings.TrimSpace(key) {
		case "aws_access_key_id":
			a.AccessKey = value
		case "aws_secret_access_key":
			a.SecretKey = value
		case "aws_session_token":
			a.SessionToken = value
		}
	}
	if a.AccessKey == "" || a.SecretKey == "" {
		return a, fmt.Errorf("%w: the access key: the profile %q of %s has none", driver.ErrUnauthorized, profile, name)
	}
	return a, nil
}
